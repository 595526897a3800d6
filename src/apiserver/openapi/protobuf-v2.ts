/** What clients before the third OpenAPI version ask for; newer ones ask for it about kinds the third does not name. */
export const openApiV2Protobuf: { readonly mediaTypes: ReadonlySet<string>; readonly contentType: string } = {
  mediaTypes: new Set([
    'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
    'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  ]),
  contentType: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
};

/**
 * An OpenAPI 2 document in protobuf that describes no kind. kubectl reads it about a kind that it does not find in the
 * third version, such as a `List` or one whose definition comes later in the same file: without an answer it refuses to
 * work at all, with this one it leaves validation to the server.
 */
export function emptyOpenApiV2(title: string, version: string): Buffer {
  const info = Buffer.concat([lengthDelimited(1, Buffer.from(title)), lengthDelimited(2, Buffer.from(version))]);
  const nothing = Buffer.alloc(0);
  return Buffer.concat([
    lengthDelimited(1, Buffer.from('2.0')),
    lengthDelimited(2, info),
    lengthDelimited(8, nothing),
    lengthDelimited(9, nothing),
  ]);
}

/** One protobuf field of wire type 2; both field number and length stay below 128 here. */
function lengthDelimited(field: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(field << 3) | 2, content.length]), content]);
}
