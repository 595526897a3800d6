import type { TypeTable } from '../schema/type-table.ts';

export const certificatesTypes: TypeTable = {
  alias: 'certificates',
  group: 'certificates.k8s.io',
  version: 'v1',
  componentPrefix: 'io.k8s.api.certificates.v1',
  text: `
CertificateSigningRequest kind # Asks for a certificate, to be approved and signed by someone else.
  spec    2  CertificateSigningRequestSpec    required  # What is wanted.
  status  3  CertificateSigningRequestStatus            # What was observed; written by the system.

CertificateSigningRequestSpec
  request            1  bytes                  required atomic  # The PKCS#10 request in PEM, base64 encoded.
  signerName         7  string                 required         # Who should sign it.
  expirationSeconds  8  *int32                                  # How long the certificate should be valid.
  usages             5  []string               enum(any|cert sign|client auth|code signing|content commitment|crl sign|data encipherment|decipher only|digital signature|email protection|encipher only|ipsec end system|ipsec tunnel|ipsec user|key agreement|key encipherment|microsoft sgc|netscape sgc|ocsp signing|s/mime|server auth|signing|timestamping) atomic  # What the key may be used for.
  username           2  string                                  # Who asked; filled in by the server.
  uid                3  string                                  # The uid of who asked; filled in by the server.
  groups             4  []string               atomic           # The groups of who asked; filled in by the server.
  extra              6  map[string]StringList                   # More about who asked; filled in by the server.

CertificateSigningRequestStatus
  conditions   1  []CertificateSigningRequestCondition  listmap(type)  # Approved, Denied or Failed.
  certificate  2  bytes                                 atomic         # The certificate chain in PEM, base64 encoded.

CertificateSigningRequestCondition # One aspect of the state of a CertificateSigningRequest.
  type                1  string  required  # Which aspect.
  status              6  string  required  # True, False or Unknown.
  reason              2  string            # Why it last changed, as one CamelCase word.
  message             3  string            # Why it last changed, for people.
  lastUpdateTime      4  Time              # When it was last written.
  lastTransitionTime  5  Time              # When the status last changed.
`,
};
