// Rendezvous hashing: every member gets a score for a share, and the highest wins. A member that comes takes only what it
// wins, a member that goes leaves only what it had.

/** Who of these members a share belongs to; undefined when there are none. The order of the members does not matter. */
export function ownerOf(share: string, members: readonly string[]): string | undefined {
  const shareHash = hashOf(share);
  let best: string | undefined;
  let bestScore = -1;
  for (const member of members) {
    const score = scoreOf(member, shareHash);
    if (score > bestScore || (score === bestScore && best !== undefined && member < best)) {
      best = member;
      bestScore = score;
    }
  }
  return best;
}

function scoreOf(member: string, shareHash: number): number {
  // mixed twice: members whose names differ in one character get scores that have nothing to do with each other
  return mixed(mixed(hashOf(member) ^ shareHash) + shareHash);
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mixed(hash);
}

/** The finalizer of MurmurHash3: each bit of the input changes about half of the output. */
function mixed(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
