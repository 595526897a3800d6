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
    [
      '* [Annotations, labels and other names](annotations-and-labels.md)',
      '* [Conditions](conditions.md)',
      '* [Events](events.md)',
      '* [Error codes](errors.md)',
      '* [Metrics](metrics.md)',
      '* [Environment variables and flags](environment.md)',
      '* [Served, but not acted on](not-acted-on.md)',
    ].join('\n'),
    '## Kinds',
    ...kinds,
  );
}
