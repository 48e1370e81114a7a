# A trace that the program has written over is refused; the tool goes on and says so.
acceleval profile "$PROGRAMS/../../profile/hostile/overwrites_trace.c" --task black_scholes 2>errors
