import { type Command, Option } from 'commander';

/** Adds the flags that every process with controllers takes. */
export function withControllerFlags(command: Command): Command {
  return command
    .option('--prices <file>', 'price table, to show costs of clusters in the metrics (see capstan cost)')
    .option(
      '--backup-directory <dir>',
      'directory for backups of hosted control planes (default: below the data directory)',
    )
    .addOption(stacksSource())
    .option(
      '--deny-peers <networks>',
      'addresses that are refused if a tenant names them in clouds, kubeconfigs or buckets',
    )
    .option('--allow-peers <networks>', 'exceptions from --deny-peers');
}

/** Option `--stacks-source`, which can be repeated. */
const stacksSource = (): Option =>
  new Option(
    '--stacks-source <where>',
    'where cluster stacks come from: built-in (default), a directory, oci://…, https://…, or oci or github with their variables; may be repeated',
  ).argParser((value: string, earlier: string[] | undefined) => [...(earlier ?? []), value]);
