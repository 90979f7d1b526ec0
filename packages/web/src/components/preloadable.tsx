import { type ComponentType, lazy, useState } from 'react';

/**
 * Like React's `lazy`, but a component whose `preload` has finished is rendered immediately. A `lazy` component always shows its
 * fallback first, which React keeps for at least 0.3 s.
 */
export function preloadable<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  let Loaded: ComponentType<Props> | null = null;
  const preload = async () => {
    Loaded = await load();
    return { default: Loaded };
  };
  const Lazy = lazy(preload) as unknown as ComponentType<Props>;
  function Preloadable(props: Props) {
    const [Rendered] = useState(() => Loaded ?? Lazy); // state, because a change from Lazy to Loaded would remount the component
    return <Rendered {...props} />;
  }
  return Object.assign(Preloadable, { preload });
}
