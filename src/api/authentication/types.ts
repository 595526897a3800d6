import type { TypeTable } from '../schema/type-table.ts';

export const authenticationTypes: TypeTable = {
  alias: 'authentication',
  group: 'authentication.k8s.io',
  version: 'v1',
  componentPrefix: 'io.k8s.api.authentication.v1',
  text: `
TokenReview kind nolist # Asks who a token belongs to.
  spec    2  TokenReviewSpec    required  # What is wanted.
  status  3  TokenReviewStatus            # What was observed; written by the system.

TokenReviewSpec
  token      1  string            # The token.
  audiences  2  []string  atomic  # Who must be meant by the token.

TokenReviewStatus
  authenticated  1  bool              # Whether the token is good.
  user           2  UserInfo          # Who it belongs to.
  audiences      4  []string  atomic  # The audiences that fit.
  error          3  string            # Why the check failed.

UserInfo # A user as the server sees it.
  username  1  string                         # The name.
  uid       2  string                         # What stays when a name is used again.
  groups    3  []string               atomic  # The groups.
  extra     4  map[string]StringList          # What else is known.

TokenRequest kind nolist # Asks for a token of a service account.
  spec    2  TokenRequestSpec    required  # What is wanted.
  status  3  TokenRequestStatus            # What was observed; written by the system.

TokenRequestSpec
  audiences          1  []string               required atomic  # Whom the token is for.
  expirationSeconds  4  *int64                 always           # How long it should be valid; an hour by default.
  boundObjectRef     3  *BoundObjectReference  always           # The token dies with this object.

BoundObjectReference
  kind        1  string
  apiVersion  2  string
  name        3  string
  uid         4  string

TokenRequestStatus
  token                1  string  required  # The token.
  expirationTimestamp  2  Time    required  # When it expires.

SelfSubjectReview kind nolist # Asks who I am.
  status  2  SelfSubjectReviewStatus  # What was observed; written by the system.

SelfSubjectReviewStatus
  userInfo  1  UserInfo  # Who you are.
`,
};
