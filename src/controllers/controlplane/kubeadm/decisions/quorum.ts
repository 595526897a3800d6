// Members on machines and members in Pods are judged alike.
export {
  hasQuorum,
  judgeAddition,
  judgeRemoval,
  labelOf,
  type MemberView,
  quorumOf,
} from '../../../../hosting/index.ts';
