/** A link of the top bar. */
export interface TopBarLink {
  readonly to: string;
  readonly label: string;
  /** Whether the link is marked as current at exactly this path only, and not at paths below it, too. */
  readonly isExact?: boolean;
  /** Number of items that wait on the linked screen, with its text; null when none waits. */
  readonly waiting?: { readonly count: number; readonly label: string } | null;
}
