import { lazy, Suspense, use, useState } from 'react';
import { ArrangementMemoryContext } from './arrangement-memory.ts';
import type { ResultsProps } from './Results.tsx';

const Results = lazy(async () => ({ default: (await import('./Results.tsx')).Results }));

/**
 * Loads the code of result layers (objects, masks and heatmaps that programs computed) when the user first opens their
 * panel. If the page's URL contains an arrangement of layers (their order, visibility and style), loads the code
 * immediately. The layers stay visible when the panel is closed.
 */
export function ResultsGate(props: ResultsProps) {
  const { read, historyStep } = use(ArrangementMemoryContext);
  const [isNeeded, setNeeded] = useState(() => props.isOpen || read() !== null);
  if (props.isOpen && !isNeeded) setNeeded(true); // set during rendering: React renders again immediately
  if (!isNeeded) return null;
  return (
    <Suspense fallback={null}>
      {/* After a step back or forward in the browser history, `Results` reads the arrangement from the URL again. */}
      <Results key={historyStep} {...props} />
    </Suspense>
  );
}
