# The catalogue, and what is no strategy.
acceleval strategies | head -4
acceleval strategies list --json | grep -c '"id"'
acceleval strategies show b02 | head -10
acceleval strategies show M31 || echo "exit $?"
acceleval strategies paint mine.cu
