# A variable that is set to nothing counts as not set.
export ACCELEVAL_STORE= ACCELEVAL_BANK= ACCELEVAL_CACHE= ACCELEVAL_TASKS= ACCELEVAL_WORKER=
acceleval doctor | grep "^[a-zA-Z]*  *\(set-up\|cache\|bank\|results\) "
