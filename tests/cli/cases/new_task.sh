acceleval new-task
acceleval new-task a-b-c
acceleval new-task black_scholes
acceleval new-task one two
ACCELEVAL_TASKS=$PWD acceleval new-task my_task
