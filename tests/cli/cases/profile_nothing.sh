acceleval profile
acceleval profile "$PROGRAMS/right.c"
echo "exit $?"
acceleval profile "$PROGRAMS/aborts.c" --task black_scholes 2>errors
