program=$(command -v acceleval)
PATH=/nowhere "$program" check "$PROGRAMS/right.c" --task black_scholes 2>errors
