/** A link of the top bar. */
export interface TopBarLink {
  readonly to: string;
  readonly label: string;
  /** Language of the label, if it differs from the page's. */
  readonly lang?: string;
  /** Current only for exactly this address. */
  readonly end?: boolean;
  /** Label of what waits there; null when nothing waits. */
  readonly waiting?: { readonly count: number; readonly label: string } | null;
}
