import { ownDefinitions } from '../../src/api/index.ts';
import { kindPage, kindPath } from './kinds.ts';
import {
  conditionsPage,
  environmentPage,
  errorsPage,
  eventsPage,
  metricsPage,
  namesPage,
  notActedOnPage,
} from './lists.ts';
import { page } from './markdown.ts';
import { allMetrics } from './metrics.ts';

/** Returns every page of the reference, by path below docs/reference. */
export async function referencePages(): Promise<Map<string, string>> {
  const pages = new Map(ownDefinitions.map((definition) => [kindPath(definition), kindPage(definition)]));
  pages.set('annotations-and-labels.md', namesPage());
  pages.set('conditions.md', conditionsPage());
  pages.set('events.md', eventsPage());
  pages.set('errors.md', errorsPage());
  pages.set('metrics.md', metricsPage(await allMetrics()));
  pages.set('environment.md', environmentPage());
  pages.set('not-acted-on.md', notActedOnPage());
  pages.set('README.md', index());
  return pages;
}

function index(): string {
  const groups = [...new Set(ownDefinitions.map(({ group }) => group))].sort();
  const kinds = groups.map((group) => {
    const links = ownDefinitions
      .filter((definition) => definition.group === group)
      .map((definition) => `* [${definition.kind}](${kindPath(definition)})`);
    return `### ${group}\n\n${links.join('\n')}`;
  });
  return page(
    'Reference',
    'These pages are generated from the code. Use them to look up a field, a name or a message.',
    [
      '* [Annotations, labels and other names](annotations-and-labels.md): names that you set, or that Capstan sets',
      '* [Conditions](conditions.md): what each condition means when it is `True`',
      '* [Events](events.md): all event reasons',
      '* [Error codes](errors.md): all `CAP_…` codes',
      '* [Metrics](metrics.md): all metrics of `/metrics`',
      '* [Environment variables and flags](environment.md): all flags of all commands',
      '* [Kinds that are served but not acted on](not-acted-on.md)',
    ].join('\n'),
    '## Kinds',
    ...kinds,
  );
}
