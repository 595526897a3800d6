// Members on machines and members in Pods are judged alike.
export {
  judgeAddition,
  judgeRemoval,
  labelOf,
  type MemberView,
  quorumOf,
} from '../../../../hosting/index.ts';
