mkdir -p data/acceleval; echo garbage > data/acceleval/results.db; acceleval report
