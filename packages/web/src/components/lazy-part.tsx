import { Component, type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react';
import { doesServerRespond } from '../browser/server-responds.ts';

/** Time limit of the check whether the server responds: on a slow network, the request may have to wait for tiles. */
const responseTimeoutMs = 15_000;

/** Props of a component that is shown instead of a part of a screen that has failed: the props of the part, and `onRetry`. */
type FailedPartProps<Props> = Props & {
  /** Loads the script of the part again and renders the part again. */
  readonly onRetry: () => void;
};

/**
 * Returns a component whose script is loaded when the component is first rendered. Until the script is loaded, `Fallback` is rendered
 * (by default nothing). `Failed` is rendered when the component throws, or when its script cannot be loaded: without a network, or after
 * a newer version of the app has replaced the script. With React's `lazy` alone, an error screen would then replace the whole screen, and
 * unsaved input would be lost. A retry helps when the server did not respond; a script that was replaced needs a reload of the page.
 *
 * The component's `preload` loads the script in advance. It rejects when that fails; rendering the component then loads it again.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Failed: ComponentType<FailedPartProps<Props>>,
  Fallback: ComponentType | null = null,
): ComponentType<Props> & { readonly preload: () => Promise<unknown> } {
  let Loaded: ComponentType<Props> | null = null;
  const loadPart = async () => {
    // Browsers keep the failure of an import until the page is reloaded, so the script is only requested if the server responds.
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
