export ACCELEVAL_CACHE=$PWD/cache; acceleval cache; acceleval cache clear
acceleval cache show --kind expcted
