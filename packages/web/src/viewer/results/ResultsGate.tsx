import { lazy, Suspense, useState } from 'react';
import type { ResultsProps } from './Results.tsx';

const Results = lazy(async () => ({ default: (await import('./Results.tsx')).Results }));

/** Loads the code of result layers when the panel is opened for the first time. Layers stay when it is closed. */
export function ResultsGate(props: ResultsProps) {
  const [isNeeded, setNeeded] = useState(props.isOpen);
  if (props.isOpen && !isNeeded) setNeeded(true);
  if (!isNeeded) return null;
  return (
    <Suspense fallback={null}>
      <Results {...props} />
    </Suspense>
  );
}
