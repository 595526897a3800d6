import type { TypeTable } from '../schema/type-table.ts';

export const batchTypes: TypeTable = {
  alias: 'batch',
  group: 'batch',
  version: 'v1',
  componentPrefix: 'io.k8s.api.batch.v1',
  text: `
Job kind # Runs pods until enough of them have succeeded.
  spec    2  JobSpec    # What is wanted.
  status  3  JobStatus  # What was observed; written by the system.

JobSpec
  parallelism               1  *int32                                          # How many pods run at once.
  completions               2  *int32                                          # How many pods must succeed.
  activeDeadlineSeconds     3  *int64                                          # How long the job may take.
  podFailurePolicy         11  *PodFailurePolicy
  successPolicy            16  *SuccessPolicy
  backoffLimit              7  *int32                                          # How many failures before the job counts as failed; 6 by default.
  backoffLimitPerIndex     12  *int32
  maxFailedIndexes         13  *int32
  selector                  4  *meta.LabelSelector                             # The pods that belong to it; chosen by the system.
  manualSelector            5  *bool                                           # Choose the selector yourself.
  template                  6  core.PodTemplateSpec  required                  # The pods to make.
  ttlSecondsAfterFinished   8  *int32                                          # How long to keep the finished job.
  completionMode            9  *string               enum(Indexed|NonIndexed)  # NonIndexed (the default) or Indexed.
  suspend                  10  *bool                                           # Stop the pods for now.
  podReplacementPolicy     14  *string               enum(Failed|TerminatingOrFailed)
  managedBy                15  *string

PodFailurePolicy
  rules  1  []PodFailurePolicyRule  required atomic

PodFailurePolicyRule
  action           1  string                                    required enum(Count|FailIndex|FailJob|Ignore)
  onExitCodes      2  *PodFailurePolicyOnExitCodesRequirement
  onPodConditions  3  []PodFailurePolicyOnPodConditionsPattern  atomic

PodFailurePolicyOnExitCodesRequirement
  containerName  1  *string
  operator       2  string   required enum(In|NotIn)
  values         3  []int32  required set

PodFailurePolicyOnPodConditionsPattern
  type    1  string  required
  status  2  string  required

SuccessPolicy
  rules  1  []SuccessPolicyRule  required atomic

SuccessPolicyRule
  succeededIndexes  1  *string
  succeededCount    2  *int32

JobStatus
  conditions                1  []JobCondition            atomic merge(type)  # How far things are.
  startTime                 2  *Time                                         # When the job was started.
  completionTime            3  *Time                                         # When the job was done.
  active                    4  int32                                         # Pods that run.
  succeeded                 5  int32                                         # Pods that succeeded.
  failed                    6  int32                                         # Pods that failed.
  terminating              11  *int32
  completedIndexes          7  string
  failedIndexes            10  *string
  uncountedTerminatedPods   8  *UncountedTerminatedPods
  ready                     9  *int32

JobCondition # One aspect of the state of a Job.
  type                1  string  required  # Which aspect.
  status              2  string  required  # True, False or Unknown.
  lastProbeTime       3  Time              # When it was last looked at.
  lastTransitionTime  4  Time              # When the status last changed.
  reason              5  string            # Why it last changed, as one CamelCase word.
  message             6  string            # Why it last changed, for people.

UncountedTerminatedPods
  succeeded  1  []string  set
  failed     2  []string  set

CronJob kind # Starts a Job at given times.
  spec    2  CronJobSpec    # What is wanted.
  status  3  CronJobStatus  # What was observed; written by the system.

CronJobSpec
  schedule                    1  string           required                    # When, in cron format.
  timeZone                    8  *string                                      # The time zone of the schedule; that of the controller by default.
  startingDeadlineSeconds     2  *int64                                       # How late a job may start if its time was missed.
  concurrencyPolicy           3  string           enum(Allow|Forbid|Replace)  # What to do while the last job still runs: Allow (the default), Forbid or Replace.
  suspend                     4  *bool                                        # Start no more jobs for now.
  jobTemplate                 5  JobTemplateSpec  required                    # The job to start.
  successfulJobsHistoryLimit  6  *int32                                       # How many good jobs to keep; 3 by default.
  failedJobsHistoryLimit      7  *int32                                       # How many failed jobs to keep; 1 by default.

JobTemplateSpec
  metadata  1  meta.ObjectMeta
  spec      2  JobSpec

CronJobStatus
  active              1  []core.ObjectReference  atomic
  lastScheduleTime    4  *Time
  lastSuccessfulTime  5  *Time
`,
};
