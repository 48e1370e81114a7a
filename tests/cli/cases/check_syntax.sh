acceleval check "$PROGRAMS/syntax.c" --task black_scholes 2>errors | head -2
