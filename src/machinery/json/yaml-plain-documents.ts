import type { JsonPrimitive } from './value.ts';
import { type PlainDocument, parsePlainYaml } from './yaml-plain.ts';

/** A line that only starts a document. It does so in a block scalar too, because it is not indented. */
const separator = /^---[ \t]*\n/m;
/** Other lines that start or end a document. */
const marker = /^(?:---|\.\.\.)(?=[ \t\n]|$)/m;
/** A line that is neither blank nor a comment. */
const content = /^ *[^ \n#]/m;

/**
 * Parses the documents of a text one by one, each as `parsePlainYaml` does. Returns undefined if one of them is outside its
 * subset, because text of one document, such as a quoted scalar that does not end, may continue in the next.
 */
export function parsePlainDocuments(
  text: string,
  plainScalar: (text: string) => JsonPrimitive,
): PlainDocument[] | undefined {
  const pieces = text.split(separator);
  const documents: PlainDocument[] = [];
  let linesBefore = 0;
  for (const [index, piece] of pieces.entries()) {
    if (pieces.length > 1 && marker.test(piece)) return undefined;
    const document = parsePlainYaml(piece, plainScalar);
    if (!document) return undefined;
    // blank lines and comments before the first separator are no document
    const isDocument = index > 0 || pieces.length === 1 || content.test(piece);
    if (isDocument) documents.push({ value: document.value, line: linesBefore + document.line });
    linesBefore += piece.split('\n').length;
  }
  return documents;
}
