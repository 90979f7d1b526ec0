/** A link of the top bar. */
export interface TopBarLink {
  readonly to: string;
  readonly label: string;
  /** Whether the link is marked as current only at its path itself, and not at the paths of subpages. */
  readonly isExact?: boolean;
  /** Number of items that wait on the linked screen (such as applicants), with its label; null when none waits. */
  readonly waiting?: { readonly count: number; readonly label: string } | null;
}
