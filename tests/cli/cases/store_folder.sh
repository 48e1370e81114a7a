# A folder, or a device, where the results file should be: said as what it is, not as a disk that fails.
mkdir store
export ACCELEVAL_STORE=store
acceleval report
acceleval eval --entrant parallel --task black_scholes --quick 2>&1 | tail -n 1
ACCELEVAL_STORE=/dev/null acceleval history alice
