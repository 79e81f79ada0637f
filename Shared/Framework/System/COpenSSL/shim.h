#pragma once
// The low-level SHA-256 and elliptic curve calls are marked deprecated in favour of EVP. EVP fetches and allocates for
// every message, which costs more than the hashing of a payload; the low-level calls remain in all of OpenSSL 3.
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/cms.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

// OpenSSL's typed stacks are macros, which Swift cannot call.
static inline STACK_OF(X509) *COpenSSL_certificates_new(void) { return sk_X509_new_null(); }
static inline int COpenSSL_certificates_push(STACK_OF(X509) *stack, X509 *certificate) {
    return sk_X509_push(stack, certificate);
}
static inline int COpenSSL_certificates_count(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *COpenSSL_certificates_at(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}
// Frees the stack and not the certificates in it.
static inline void COpenSSL_certificates_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }
// Frees the stack and gives up one reference to each certificate in it.
static inline void COpenSSL_certificates_release(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

static inline int COpenSSL_signers_count(const STACK_OF(CMS_SignerInfo) *stack) {
    return sk_CMS_SignerInfo_num(stack);
}

static inline int COpenSSL_strings_count(const STACK_OF(OPENSSL_STRING) *stack) {
    return sk_OPENSSL_STRING_num(stack);
}
static inline const char *COpenSSL_strings_at(const STACK_OF(OPENSSL_STRING) *stack, int index) {
    return sk_OPENSSL_STRING_value(stack, index);
}

// BIO_get_mem_data is a macro over BIO_ctrl with a cast.
static inline long COpenSSL_memory_contents(BIO *bio, char **contents) { return BIO_get_mem_data(bio, contents); }

// X509V3_set_ctx_nodb is a macro that assigns a member.
static inline void COpenSSL_set_extension_context(X509V3_CTX *context, X509 *issuer, X509 *subject) {
    X509V3_set_ctx(context, issuer, subject, NULL, NULL, 0);
    X509V3_set_ctx_nodb(context);
}

// XN_FLAG_RFC2253 is an expression of macros. UTF-8 is left as it is instead of being escaped byte by byte.
static inline int COpenSSL_print_name(BIO *bio, const X509_NAME *name) {
    return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}
