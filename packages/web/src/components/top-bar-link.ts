/** A link of the top bar. */
export interface TopBarLink {
  readonly to: string;
  readonly label: string;
  /** Language of the label, if it differs from the page's. */
  readonly lang?: string;
  /** Whether the link is marked as current only at exactly this path, not at paths below it. */
  readonly end?: boolean;
  /** Number of items that wait on the linked screen, with its text; null when none waits. */
  readonly waiting?: { readonly count: number; readonly label: string } | null;
}
