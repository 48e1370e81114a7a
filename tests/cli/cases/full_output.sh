# Output that nobody can read is no success, whichever command it is of.
acceleval list >/dev/full; echo $?
acceleval list --json >/dev/full; echo $?
acceleval show black_scholes >/dev/full; echo $?
acceleval completion >/dev/full; echo $?
acceleval --version >/dev/full; echo $?
acceleval help >&-
