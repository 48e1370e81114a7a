/* Elementary functions that give the same bits on every machine: + - * / and sqrt of IEEE 754 doubles only,
 * never contracted (the build sets -ffp-contract=off). Errors are below 2 ulp in the stated ranges.
 * For generators and checkers; submissions and references use libm. */
#ifndef AE_BASE_FMATH_H
#define AE_BASE_FMATH_H

/* 0 below -745, +inf above 709.78. */
double ae_exp(double x);
/* Natural logarithm; x > 0 and normal, else NaN (-inf at 0). */
double ae_log(double x);
/* |x| <= 1e5: the reduction by pi/2 keeps three parts of it. */
double ae_sin(double x);
double ae_cos(double x);
/* Correctly rounded, as IEEE 754 asks; in one place so that no libm is needed. */
double ae_sqrt(double x);

#endif
