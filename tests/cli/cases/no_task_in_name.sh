echo "int x;" > solver.c; acceleval check solver.c
