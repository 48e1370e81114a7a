# The name of a folder is printed as one name: it begins no line and does nothing to the terminal.
folder=$(printf "eve\\nbob\\033[2J")
mkdir "$folder" && cp "$PROGRAMS/right.c" "$folder/black_scholes.c"
cp "$PROGRAMS/zeros.c" "$folder/black_scholes.1.c"
acceleval eval "$folder" --quick --size small 2>errors | sed "s,: prices.*,,"
