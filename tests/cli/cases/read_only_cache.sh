export ACCELEVAL_CACHE=/proc/nowhere
acceleval check "$PROGRAMS/right.c" --task black_scholes 2>errors
grep ACCELEVAL_CACHE errors
