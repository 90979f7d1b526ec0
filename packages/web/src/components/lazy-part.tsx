import { Component, type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react';
import { doesServerRespond } from '../browser/server-responds.ts';

/** Long enough for a slow network, on which the request may wait for tiles. */
const responseTimeoutMs = 15_000;

/** Props of a component that replaces a part of a screen that cannot be shown: those of the part, and `onRetry`. */
type FailedPartProps<Props> = Props & {
  /** Loads the code again and renders the part again. */
  readonly onRetry: () => void;
};

/**
 * Returns a component whose code is loaded when it is first rendered; until then, it renders `Fallback` (by default nothing). When the code cannot be loaded
 * (without a network, or when a newer version of the app has replaced it) or the component throws while it renders, `Failed` replaces it.
 * With `lazy` alone, the error screen would replace the whole screen with everything on it that is not saved. Retrying helps when the
 * server did not respond; for code that the server no longer has, only reloading the page helps.
 *
 * The component's `preload` loads the code in advance. It rejects when the code cannot be loaded; rendering the component then loads the
 * code again.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Failed: ComponentType<FailedPartProps<Props>>,
  Fallback: ComponentType | null = null,
): ComponentType<Props> & { readonly preload: () => Promise<unknown> } {
  let Loaded: ComponentType<Props> | null = null;
  const loadPart = async () => {
    // Browsers keep the failure of an import until the page is reloaded, so the code is only requested from a server that responds.
    if (!(await doesServerRespond(responseTimeoutMs))) throw new Error('The server does not respond.');
    Loaded = await load();
    return { default: Loaded };
  };
  /** Returns the component or, until it is loaded, a new lazy one, because `lazy` keeps a failure for ever. */
  const createPart = () => Loaded ?? (lazy(loadPart) as unknown as ComponentType<Props>);
  function LazyPart(props: Props) {
    const [Part, setPart] = useState(createPart);
    return (
      <FailureBoundary
        renderFailed={(reset) => (
          <Failed
            {...props}
            onRetry={() => {
              setPart(createPart);
              reset();
            }}
          />
        )}
      >
        <Suspense fallback={Fallback && <Fallback />}>
          <Part {...props} />
        </Suspense>
      </FailureBoundary>
    );
  }
  return Object.assign(LazyPart, { preload: loadPart });
}

interface FailureBoundaryProps {
  readonly children: ReactNode;
  /** Called after one of the children has thrown. */
  readonly onFailed?: () => void;
  /** Returns what replaces the children after one of them has thrown. @param reset renders the children again */
  readonly renderFailed: (reset: () => void) => ReactNode;
}

/** Replaces its children after one of them has thrown. A class, because React has no hook for error boundaries. */
export class FailureBoundary extends Component<FailureBoundaryProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override componentDidCatch() {
    this.props.onFailed?.();
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return this.props.renderFailed(() => this.setState({ hasFailed: false }));
  }
}
