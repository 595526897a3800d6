import { Option } from 'commander';

/** Option `--stacks-source`, which can be repeated. */
export const stacksSourceOption = (): Option =>
  new Option(
    '--stacks-source <where>',
    'where cluster stacks come from: built-in (default), a directory, oci://…, https://…, or oci or github with their variables; may be repeated',
  ).argParser((value: string, earlier: string[] | undefined) => [...(earlier ?? []), value]);
