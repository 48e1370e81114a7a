acceleval check "$PROGRAMS/right.c" --task black_scholes 2>errors
