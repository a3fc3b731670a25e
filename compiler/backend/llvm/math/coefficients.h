//===- coefficients.h - polynomials of the CPU math library --------*- C -*-===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Printed by coefficients.py, constant terms first. Kept as a file since the
// build need not have mpmath. The error is relative to the function's result.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_MATH_COEFFICIENTS_H
#define TENON_COMPILER_BACKEND_LLVM_MATH_COEFFICIENTS_H

/// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2; off by 2^-62.3.
#define EXP_DEGREE 10
static const double EXP[11] = {0x1.0p-1,
                               0x1.5555555555557p-3,
                               0x1.5555555555572p-5,
                               0x1.111111111009cp-7,
                               0x1.6c16c16c0bf2p-10,
                               0x1.a01a01ac0a9eep-13,
                               0x1.a01a01d75cdd3p-16,
                               0x1.71de01c3fc936p-19,
                               0x1.27e476baa1874p-22,
                               0x1.af4ecd2129492p-26,
                               0x1.200aebafbc98dp-29};

/// The same for float; off by 2^-26.9.
#define EXPF_DEGREE 4
static const float EXPF[5] = {0x1.0p-1f, 0x1.5554dcp-3f, 0x1.555518p-5f, 0x1.120c62p-7f, 0x1.6d11fep-10f};

/// (2^r - 1) / r for |r| <= 1/2; off by 2^-63.4.
#define EXP2_DEGREE 11
static const double EXP2[12] = {0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58fp-3,  0x1.c6b08d704a0c6p-5,
                                0x1.3b2ab6fba4e79p-7,  0x1.5d87fe78a3f9cp-10, 0x1.430912f86b7dbp-13,
                                0x1.ffcbfc6da6ed1p-17, 0x1.62c02242b879cp-20, 0x1.b524ebd13a55fp-24,
                                0x1.e4cf10dec0f59p-28, 0x1.e9ec1fcb69a7fp-32, 0x1.c4a29324a1038p-36};

/// The same for float; off by 2^-27.9.
#define EXP2F_DEGREE 5
static const float EXP2F[6] = {0x1.62e43p-1f,  0x1.ebfbep-3f,  0x1.c6af6cp-5f,
                               0x1.3b2a54p-7f, 0x1.5f089p-10f, 0x1.44138ap-13f};

/// (10^r - 1) / r for |r| <= log10(2)/2; off by 2^-63.3.
#define EXP10_DEGREE 11
static const double EXP10[12] = {0x1.26bb1bbb55516p+1,  0x1.53524c73cea69p+1,  0x1.0470591de2ca8p+1,
                                 0x1.2bd7609fd98c6p+0,  0x1.1429ffd1d2dafp-1,  0x1.a7ed70847b3cfp-3,
                                 0x1.16e4dfced7eeap-4,  0x1.4116b06782ecfp-6,  0x1.489786aeb470ap-8,
                                 0x1.2ea5029a6c25bp-10, 0x1.fbfd0d09d2a59p-13, 0x1.85c4361112ca2p-15};

/// (log((1+s)/(1-s)) - 2s) / s^3 in s^2, for 1+f = (1+s)/(1-s) in sqrt(1/2)..sqrt(2); off by 2^-64.8.
#define LOG_DEGREE 7
static const double LOG[8] = {0x1.5555555555555p-1, 0x1.9999999999a3ap-2, 0x1.2492492476765p-2, 0x1.c71c7201f1f41p-3,
                              0x1.745cf8c4cfebep-3, 0x1.3b1c42e222badp-3, 0x1.0fbd2bde02b13p-3, 0x1.0c1261fd9bdd6p-3};

/// The same for float; off by 2^-28.4.
#define LOGF_DEGREE 2
static const float LOGF[3] = {0x1.55555cp-1f, 0x1.997c12p-2f, 0x1.2eeb8p-2f};

/// (atanh(s) - s - s^3/3) / s^5 in s^2, on the same interval; off by 2^-70.0.
#define POWLOG_DEGREE 7
static const double POWLOG[8] = {0x1.999999999999ap-3, 0x1.2492492492523p-3, 0x1.c71c71c6ea0c5p-4,
                                 0x1.745d177b19965p-4, 0x1.3b13959b3d042p-4, 0x1.1118d3897ce82p-4,
                                 0x1.df7a59e3800a4p-5, 0x1.e047dc948b342p-5};

/// (sin(x) - x) / x^3 in x^2 for |x| <= pi/4; off by 2^-66.9.
#define SIN_DEGREE 6
static const double SIN[7] = {-0x1.5555555555555p-3, 0x1.111111111111p-7,    -0x1.a01a01a019926p-13,
                              0x1.71de3a545e704p-19, -0x1.ae64540f0c1bcp-26, 0x1.61217c18c5ad8p-33,
                              -0x1.ab161790d481ep-41};

/// (cos(x) - 1 + x^2/2) / x^4 in x^2, on the same interval; off by 2^-71.8.
#define COS_DEGREE 6
static const double COS[7] = {0x1.5555555555555p-5,   -0x1.6c16c16c16c16p-10, 0x1.a01a01a019d02p-16,
                              -0x1.27e4fb7711e1fp-22, 0x1.1eed8de9efaa4p-29,  -0x1.9394b76d752bfp-37,
                              0x1.ab76cfa136b4ap-45};

/// Both for float results, evaluated in double; off by 2^-35.7.
#define SINF_DEGREE 3
static const double SINF[4] = {-0x1.555555545c0fdp-3, 0x1.11110dea5f29ep-7, -0x1.a013a116ee9c5p-13,
                               0x1.6dbbee63fbd5cp-19};

/// The cosine of these; off by 2^-40.0.
#define COSF_DEGREE 3
static const double COSF[4] = {0x1.5555555502261p-5, -0x1.6c16bf51b149p-10, 0x1.a015c028ae9c5p-16,
                               -0x1.2522e707282ddp-22};

/// (asin(x) - x) / x^3 in x^2 for |x| <= 1/2; off by 2^-61.8.
#define ASIN_DEGREE 13
static const double ASIN[14] = {0x1.5555555555555p-3,  0x1.3333333333388p-4, 0x1.6db6db6dac1ep-5,  0x1.f1c71c7a52ba3p-6,
                                0x1.6e8ba123e494cp-6,  0x1.1c4efce23019fp-6, 0x1.c990ad3d8fdcap-7, 0x1.7b027ee1dd585p-7,
                                0x1.3b49de7121487p-7,  0x1.31622469ce5adp-7, 0x1.8f193743418ffp-9, 0x1.406192d124629p-6,
                                -0x1.3b416bb7d9257p-6, 0x1.e529c6fce9bb4p-6};

/// (atan(x) - x) / x^3 in x^2 for |x| <= 7/16; off by 2^-60.4.
#define ATAN_DEGREE 11
static const double ATAN[12] = {-0x1.5555555555555p-2, 0x1.99999999998c4p-3,  -0x1.2492492485417p-3,
                                0x1.c71c71bd21787p-4,  -0x1.745d154ac3da3p-4, 0x1.3b1375a0eb258p-4,
                                -0x1.110c9a0c8644ap-4, 0x1.e1704532a7e28p-5,  -0x1.ab582fd05ec97p-5,
                                0x1.6ffb4e901f5dbp-5,  -0x1.0f54730d6c30ep-5, 0x1.e3ddb8d3850abp-7};

/// tanh(x)/x in x^2 for |x| <= 9.02, float; off by 2^-33.3.
#define TANHF_UPPER_DEGREE 5
static const float TANHF_UPPER[6] = {0x1.0p+0f,       0x1.20a9ap-3f,   0x1.21ad2ap-8f,
                                     0x1.61559ep-15f, 0x1.d99e34p-24f, 0x1.3e178ap-35f};

#define TANHF_LOWER_DEGREE 5
static const float TANHF_LOWER[6] = {0x1.0p+0f,       0x1.e5aa24p-2f,  0x1.de18dcp-6f,
                                     0x1.05fd14p-11f, 0x1.5b8d02p-19f, 0x1.90ee68p-29f};

/// erf(x)/x - 1 in x^2 for |x| <= 1; off by 2^-56.9.
#define ERF_DEGREE 11
static const double ERF[12] = {0x1.06eba8214db68p-3,   -0x1.812746b0379c1p-2,  0x1.ce2f21a040f66p-4,
                               -0x1.b82ce31203772p-6,  0x1.565bccfa44156p-8,   -0x1.c02db0665e53dp-11,
                               0x1.f9a2be4f731a1p-14,  -0x1.f4ca838adb73bp-17, 0x1.b981d78881a5dp-20,
                               -0x1.5c131500d3f88p-23, 0x1.d76af6ca49787p-27,  -0x1.ac9585a44fe29p-31};

/// erf(x)/x in x^2 for |x| <= 3.92, float; off by 2^-26.4.
#define ERFF_UPPER_DEGREE 5
static const float ERFF_UPPER[6] = {0x1.20dd76p+0f, 0x1.8d4e2p-3f,   0x1.c88ea4p-5f,
                                    0x1.168b6ap-8f, 0x1.a7f44cp-12f, 0x1.b3605p-18f};

#define ERFF_LOWER_DEGREE 6
static const float ERFF_LOWER[7] = {0x1.0p+0f,      0x1.02b13ap-1f,  0x1.e28d7p-4f,  0x1.0b6732p-6f,
                                    0x1.737a6p-10f, 0x1.27125cp-14f, 0x1.069472p-22f};

/// (1+2x) e^(x^2) erfc(x) in t = (x-4)/(x+4) for 0 <= x <= 28; off by 2^-58.8.
#define ERFC_DEGREE 23
static const double ERFC[24] = {
    0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a28fp-3,  0x1.f7f5df66fd6a7p-7,   0x1.16ecefcfa540ep-4,
    -0x1.9ddb23c3e8874p-4,  0x1.7fee004e112c3p-4,   -0x1.0fb06dfe56142p-4,  0x1.3079edf6aa5a8p-5,
    -0x1.096238828c1cbp-6,  0x1.49c6727af5d87p-8,   -0x1.8d4a9c3d62797p-11, -0x1.a1df1e2a70512p-13,
    0x1.3be068698b9ccp-13,  -0x1.9959f4cc5a01cp-16, -0x1.788ca4d342b82p-17, 0x1.7f2d5af276bp-18,
    0x1.3b713b970cad2p-22,  -0x1.bb2bbabb02ec5p-21, 0x1.40eafd5947706p-24,  0x1.d8b4353ca5555p-24,
    -0x1.353a87be1712dp-26, -0x1.e432644b5660ap-27, 0x1.00cd8e2f991c3p-29,  0x1.5b62d008c2d94p-30};

/// cbrt(m) for 1 <= m <= 2: a first guess; off by 2^-16.2.
#define CBRT_DEGREE 4
static const double CBRT[5] = {0x1.04bc2bde493b9p-1, 0x1.6c697f83452edp-1, -0x1.2d024eeecb9cbp-2, 0x1.544aaec5e4624p-4,
                               -0x1.4b077fcd0882bp-7};

#endif // TENON_COMPILER_BACKEND_LLVM_MATH_COEFFICIENTS_H
