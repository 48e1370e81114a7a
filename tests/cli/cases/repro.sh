acceleval repro "$PROGRAMS/zeros.c" --task black_scholes -o r 2>errors; ls r; make -s -C r 2>&1; cd r && ./repro | sed "s/[0-9].*//"
