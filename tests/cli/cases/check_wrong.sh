acceleval check "$PROGRAMS/half.c" --task black_scholes 2>errors | sed "s/prices\[.*//; s/[0-9][0-9]* of [0-9]* wrong.*/WRONG/"
