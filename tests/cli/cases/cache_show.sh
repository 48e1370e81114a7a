export ACCELEVAL_CACHE=$PWD/cache; acceleval cache; acceleval cache clear
