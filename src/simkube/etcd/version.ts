/** Returns major and minor of a version: 3.6 for 3.6.4. */
export function minorOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

/** Reports whether one `major.minor` is older than another. */
export function isOlder(left: string, right: string): boolean {
  return minorSteps(left, right) > 0;
}

/** Number of minor versions between two `major.minor`; a major version counts as many. */
export function minorSteps(from: string, to: string): number {
  const [fromMajor = 0, fromMinor = 0] = from.split('.').map(Number);
  const [toMajor = 0, toMinor = 0] = to.split('.').map(Number);
  return (toMajor - fromMajor) * 1_000 + (toMinor - fromMinor);
}
