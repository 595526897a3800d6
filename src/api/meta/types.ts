import type { TypeTable } from '../schema/type-table.ts';

export const metaTypes: TypeTable = {
  alias: 'meta',
  group: 'meta.k8s.io',
  version: 'v1',
  componentPrefix: 'io.k8s.apimachinery.pkg.apis.meta.v1',
  text: `
ObjectMeta # What all objects have.
  name                         1  string                                         # Name, unique for its kind in its namespace; cannot change.
  generateName                 2  string                                         # Beginning of a name that the server completes, when no name is given.
  namespace                    3  string                                         # The namespace; cannot change.
  selfLink                     4  string                                         # No longer filled in.
  uid                          5  string                                         # Identifies this object for all time, also from others of the same name; set by the server.
  resourceVersion              6  string                                         # Changes with every write; send it back to notice that someone else was faster.
  generation                   7  int64                                          # Counts the changes of what is wanted; set by the server.
  creationTimestamp            8  Time                  omitzero                 # CreationTimestamp is a timestamp of when the server created the object.
  deletionTimestamp            9  *Time                                          # When deletion was asked for, plus the grace period; set by the server.
  deletionGracePeriodSeconds  10  *int64                                         # Seconds given for a clean end; set with deletionTimestamp.
  labels                      11  map[string]string                              # Keys and values to select objects by.
  annotations                 12  map[string]string                              # Keys and values for any other use.
  ownerReferences             13  []OwnerReference      listmap(uid) merge(uid)  # Objects this one depends on; when all are gone, it goes too.
  finalizers                  14  []string              set merge                # Who must agree before the object goes away.
  managedFields               17  []ManagedFieldsEntry  atomic                   # Who set which fields; kept by the server.

OwnerReference atomic # An object that another depends on, in the same namespace or in none.
  apiVersion          5  string  required  # API version of the owner.
  kind                1  string  required  # Kind of the owner.
  name                3  string  required  # Name of the owner.
  uid                 4  string  required  # uid of the owner.
  controller          6  *bool             # Whether the owner manages this object; at most one does.
  blockOwnerDeletion  7  *bool             # Foreground deletion of the owner waits for this object.

ManagedFieldsEntry # Fields set by one manager in one way.
  manager      1  string     # Who set them.
  operation    2  string     # Apply or Update.
  apiVersion   3  string     # The version the fields are written in.
  time         4  *Time      # When this entry last changed.
  fieldsType   6  string     # How the fields are written; always FieldsV1.
  fieldsV1     7  *FieldsV1  # The fields.
  subresource  8  string     # The subresource they were set through.

ListMeta # What all lists have.
  selfLink            1  string
  resourceVersion     2  string  # The version to watch from.
  continue            3  string  # Send this back to get the next page; empty on the last one.
  remainingItemCount  4  *int64  # How many items follow, if known.

LabelSelector atomic # Chooses objects by their labels; all conditions must hold, none chooses everything.
  matchLabels       1  map[string]string                   # Labels with the values they must have.
  matchExpressions  2  []LabelSelectorRequirement  atomic  # Further conditions.

LabelSelectorRequirement # One condition on a label.
  key       1  string    required  # The label.
  operator  2  string    required  # In, NotIn, Exists or DoesNotExist.
  values    3  []string  atomic    # The values to compare with, for In and NotIn.

Condition # One aspect of the state of an object.
  type                1  string  required  # Which aspect.
  status              2  string  required  # True, False or Unknown.
  observedGeneration  3  int64             # The generation of the spec this is about.
  lastTransitionTime  4  Time    required  # When the status last changed.
  reason              5  string  required  # Why it last changed, as one CamelCase word.
  message             6  string  required  # Why it last changed, for people.

Status typed # The outcome of a request.
  metadata  1  ListMeta
  status    2  string                  # Success or Failure.
  message   3  string                  # What happened, for people.
  reason    4  string                  # Why it failed, as one CamelCase word.
  details   5  *StatusDetails  atomic  # More on what failed.
  code      6  int32                   # The HTTP status code.

StatusDetails # More on what failed.
  name               1  string
  group              2  string
  kind               3  string
  uid                6  string
  causes             4  []StatusCause  atomic  # What is wrong with which field.
  retryAfterSeconds  5  int32                  # When to try again.

StatusCause
  reason   1  string
  message  2  string
  field    3  string

DeleteOptions typed everywhere # How to delete.
  gracePeriodSeconds                                1  *int64                  # Seconds given for a clean end; 0 is at once, unset leaves it to the kind.
  preconditions                                     2  *Preconditions          # Delete only if these hold.
  orphanDependents                                  3  *bool                   # Old form of propagationPolicy.
  propagationPolicy                                 4  *string                 # What happens to dependents: Orphan, Background or Foreground.
  dryRun                                            5  []string        atomic  # All checks, no change: the only value is All.
  ignoreStoreReadErrorWithClusterBreakingPotential  6  *bool                   # Delete even when the stored object cannot be read.

Preconditions
  uid              1  *string  # The uid the object must have.
  resourceVersion  2  *string  # The resourceVersion the object must have.

CreateOptions typed everywhere # How to create.
  dryRun           1  []string
  fieldManager     3  string
  fieldValidation  4  string

UpdateOptions typed everywhere # How to update.
  dryRun           1  []string
  fieldManager     2  string
  fieldValidation  3  string

PatchOptions typed everywhere # How to patch.
  dryRun           1  []string
  force            2  *bool
  fieldManager     3  string
  fieldValidation  4  string

WatchEvent everywhere # One change that a watch reports.
  type    1  string        required  # ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.
  object  2  RawExtension  required  # The object after the change, before its deletion, or the error.

PartialObjectMetadata kind nolist # An object of any kind of which only the metadata is shown.

PartialObjectMetadataList typed # A list of objects of which only the metadata is shown.
  metadata  1  ListMeta
  items     2  []PartialObjectMetadata  always

APIResourceList typed # The resources of a group version.
  groupVersion  1  string         required
  resources     2  []APIResource  required atomic

APIResource # A resource of the API.
  name                 1  string       required
  singularName         6  string       required
  namespaced           2  bool         required
  group                8  string
  version              9  string
  kind                 3  string       required
  verbs                4  *StringList  required
  shortNames           5  []string     atomic
  categories           7  []string     atomic
  storageVersionHash  10  string

FieldSelectorRequirement
  key       1  string    required
  operator  2  string    required
  values    3  []string  atomic
`,
};
