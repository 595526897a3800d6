// The same rules apply to members on machines and in Pods.
export {
  judgeAddition,
  judgeRemoval,
  labelOf,
  type MemberView,
  quorumOf,
} from '../../../../hosting/index.ts';
