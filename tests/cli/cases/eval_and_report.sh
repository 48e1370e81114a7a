mkdir alice
cp "$PROGRAMS/right.c" alice/black_scholes.c
cp "$PROGRAMS/zeros.c" alice/black_scholes.1.c
acceleval eval alice --seed 3 --quick 2>errors
acceleval eval alice --seed 3 --quick --resume 2>errors
acceleval report --format csv | head -1 | cut -c1-60
