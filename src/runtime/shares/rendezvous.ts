// Rendezvous hashing: every member gets a score for a share, and the highest wins. A new member takes only what it
// wins, a leaving member gives up only what it had.

/** Returns the owner of a share among the members; undefined without members. Their order does not matter. */
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
  // Mixed twice, so that names that differ in one character get independent scores.
  return mixed(mixed(hashOf(member) ^ shareHash) + shareHash);
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mixed(hash);
}

/** The finalizer of MurmurHash3: each input bit changes about half of the output bits. */
function mixed(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
