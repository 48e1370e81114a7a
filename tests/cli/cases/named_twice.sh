# What is named twice is measured once: a run has one measurement of a program.
mkdir alice bob; cp "$PROGRAMS/right.c" alice/black_scholes.c; cp alice/black_scholes.c bob
acceleval eval --entrant parallel,parallel --task black_scholes --quick --no-baseline --seed 1 2>errors
acceleval eval alice alice/black_scholes.c bob --quick --no-baseline --seed 1 2>errors
