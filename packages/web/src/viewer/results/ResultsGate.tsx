import { use, useState } from 'react';
import { lazyPart } from '../../components/lazy-part.tsx';
import { PartFailed } from '../PartFailed.tsx';
import viewerClasses from '../SlideViewer.module.css';
import { texts } from '../texts.ts';
import { ArrangementMemoryContext } from './arrangement-memory.ts';
import type { ResultsProps } from './Results.tsx';

/** Loaded on demand; `ResultsFailed` replaces it when its code cannot be loaded. */
const Results = lazyPart(async () => (await import('./Results.tsx')).Results, ResultsFailed);

interface ResultsGateProps extends Omit<ResultsProps, 'layers'> {
  /** Null when the list of layers could not be loaded. */
  readonly layers: ResultsProps['layers'] | null;
  /** Loads the list of layers again. */
  readonly onReload: () => void;
}

/**
 * Loads the code of result layers (objects, masks and heatmaps that programs computed) when the user first opens their
 * panel. If the page's URL contains an arrangement of layers (their order, visibility and style), loads the code
 * immediately. The layers stay visible when the panel is closed.
 */
export function ResultsGate({ layers, onReload, ...props }: ResultsGateProps) {
  const { read: readArrangement, historyStep } = use(ArrangementMemoryContext);
  const [isNeeded, setNeeded] = useState(() => props.isOpen || readArrangement() !== null);
  if (props.isOpen && !isNeeded) setNeeded(true); // set during rendering: React renders again immediately
  if (!isNeeded) return null;
  if (layers === null) return <ResultsFailed {...props} onRetry={onReload} />;
  // After a step back or forward in the browser history, `Results` reads the arrangement from the URL again.
  return <Results key={historyStep} {...props} layers={layers} />;
}

type ResultsFailedProps = Pick<ResultsProps, 'isOpen' | 'onClose'> & { readonly onRetry: () => void };

/** If the URL has an arrangement, the message stays after the panel is closed: without the arranged layers, the picture could mislead. */
function ResultsFailed({ isOpen, onClose, onRetry }: ResultsFailedProps) {
  const { read: readArrangement } = use(ArrangementMemoryContext);
  if (!isOpen && readArrangement() === null) return null;
  return (
    <div className={viewerClasses.failedResults}>
      <PartFailed message={texts.resultsFailed} onRetry={onRetry} onClose={isOpen ? onClose : undefined} />
    </div>
  );
}
