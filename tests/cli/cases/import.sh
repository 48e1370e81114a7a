mkdir d; acceleval import d --task black_scholes
