# The K of TASK.K.c is a small number: one that overflows, or goes on as text, would pass for another sample.
for k in 4294967297 1e3 1000000; do
    cp "$PROGRAMS/right.c" black_scholes.$k.c
    acceleval check black_scholes.$k.c
done
cp "$PROGRAMS/right.c" black_scholes.12.c
acceleval check black_scholes.12.c 2>errors
