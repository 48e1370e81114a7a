echo x > black_scholes.txt; acceleval check black_scholes.txt
