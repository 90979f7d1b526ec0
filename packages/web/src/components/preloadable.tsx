import { type ComponentType, lazy, useState } from 'react';

/**
 * As `lazy` of React, for a component that may be loaded before it is rendered: it is then rendered at once. A component of
 * `lazy` shows its fallback first in any case, and React keeps a fallback for 0.3 s.
 */
export function preloadable<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  let Loaded: ComponentType<Props> | null = null;
  const preload = async () => {
    Loaded = await load();
    return { default: Loaded };
  };
  const Lazy = lazy(preload) as unknown as ComponentType<Props>;
  function Preloadable(props: Props) {
    const [Shown] = useState(() => Loaded ?? Lazy); // once: another one would be mounted anew
    return <Shown {...props} />;
  }
  return Object.assign(Preloadable, { preload });
}
