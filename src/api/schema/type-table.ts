/**
 * The types of one API group and version, written in the notation that `notation.ts` reads. From these tables come the
 * schemas (defaulting, pruning, apply, strategic merge, `kubectl explain`) and the protobuf messages of built-in kinds.
 *
 * ```
 * Deployment kind                                  # one line about the type
 *   spec    2  DeploymentSpec                      # one line about the field
 *
 * DeploymentSpec
 *   replicas  1  *int32                            # name, protobuf field number, type
 *   selector  2  *meta.LabelSelector  required
 *   ports     3  []Port  merge(port) listmap(port,protocol)
 * ```
 *
 * A type starts at the margin, its fields are indented, `#` begins a description.
 *
 * Type flags
 * - `kind`: has apiVersion, kind and `metadata` (field 1), and a list kind beside it
 * - `nolist`: a kind without a list kind
 * - `typed`: has apiVersion and kind, but no object metadata
 * - `everywhere`: a kind that exists in every group version
 * - `inline`: exists only on the wire; its fields are members of whoever spreads it
 * - `atomic`: applied as a whole (x-kubernetes-map-type)
 * - `union(discriminator,member:Field,…)`: x-kubernetes-unions
 *
 * Field types
 * - `string bool int32 int64 double bytes`, a type of this table, or one of another table as `alias.Type`
 * - `Time MicroTime Quantity IntOrString RawExtension FieldsV1 JSON StringList …`: see `special-types.ts`
 * - `[]T`, `map[string]T`
 * - `*T`: a pointer in Go; unset differs from zero
 * - a name that begins with `...` spreads the fields of an inline type
 *
 * Field flags
 * - `required`: must be set; written to JSON even when zero
 * - `always`: optional, yet written to JSON even when zero
 * - `omitempty`: with `required`, left out of JSON when zero
 * - `omitzero`: a struct value left out of JSON when zero; other struct values are always written
 * - `default(value)`: a default beyond the zero value that required values and structs have
 * - `enum(a|b)`: the values published as allowed
 * - `atomic`, `set`, `listmap(keys)`, `granular`: how server-side apply merges lists and maps
 * - `merge`, `merge(key)`, `retainKeys`, `replace`: how strategic merge patch treats the field
 */
export interface TypeTable {
  /** prefix of references from other tables: `core.PodSpec` */
  readonly alias: string;
  readonly group: string;
  readonly version: string;
  /** prefix of the published component names, e.g. `io.k8s.api.apps.v1` */
  readonly componentPrefix: string;
  readonly text: string;
}
