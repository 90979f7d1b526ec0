import { createPortal } from 'react-dom';
import { useAnnotationLayers } from '../../api/annotations.ts';
import { useAuth } from '../../api/auth-state.ts';
import { lazyPart } from '../../components/lazy-part.tsx';
import { PartFailed } from '../PartFailed.tsx';
import viewerClasses from '../SlideViewer.module.css';
import { texts } from '../texts.ts';
import type { AnnotationsProps } from './Annotations.tsx';
import { hasPendingAnnotations } from './pending-flag.ts';

const Annotations = lazyPart(async () => (await import('./Annotations.tsx')).Annotations, AnnotationsFailed);

type AnnotationsGateProps = Omit<AnnotationsProps, 'user'>;

/**
 * Loads the code of annotations only when it is needed: for a slide with annotations, for the drawing mode, for measurements that
 * become annotations, and for changes that are not sent yet. The slide viewer renders this component instead of `Annotations`.
 */
export function AnnotationsGate(props: AnnotationsGateProps) {
  const { user } = useAuth();
  /** Whether the code is needed even if the slide has no annotation layers yet. */
  const hasWork = props.isDrawing || props.shapesToKeep.length > 0 || hasPendingAnnotations();
  // While nothing needs the code, the query is repeated until the slide has its first layer.
  const {
    data: layers,
    errorUpdateCount,
    refetch,
  } = useAnnotationLayers(props.imageId, { awaitsFirstLayer: !hasWork });
  if (user === null) return null;
  /** Stays true while the request is repeated, so that the message does not come and go. */
  const hasFailed = layers === undefined && errorUpdateCount > 0;
  return (
    <>
      {hasFailed && <AnnotationsFailed {...props} onRetry={() => void refetch()} />}
      {(hasWork || (layers !== undefined && layers.length > 0)) && (
        <Annotations key={props.imageId} {...props} user={user} />
      )}
    </>
  );
}

type AnnotationsFailedProps = Pick<AnnotationsProps, 'foot' | 'isDrawing' | 'onDone'> & {
  readonly onRetry: () => void;
};

/**
 * Says that the annotations or their code could not be loaded. In the drawing mode, the message has a Close button that ends the mode,
 * because the toolbar with the Done button is missing.
 */
function AnnotationsFailed({ foot, isDrawing, onDone, onRetry }: AnnotationsFailedProps) {
  if (foot === null) return null;
  return createPortal(
    <div className={viewerClasses.failedAnnotations}>
      <PartFailed
        message={texts.annotationsFailed}
        onRetry={onRetry}
        onClose={isDrawing ? onDone : undefined}
      />
    </div>,
    foot,
  );
}
