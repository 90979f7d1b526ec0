/** Plays a tour: shows one slide after the other with its text and question, at the person's own pace or following a presenter. */
import type { PresentationEvent } from '@lamina/contract';
import { Button, Text } from '@mantine/core';
import { lazy, type ReactNode, Suspense, useEffect, useEffectEvent, useRef, useState } from 'react';
import { Link } from 'react-router';
import { sendAnswer } from '../../api/collections.ts';
import { Loading } from '../../components/Loading.tsx';
import { preloadable } from '../../components/preloadable.tsx';
import type { FetchPixels } from '../pixels.ts';
import type { DescriptorSupply } from '../preload.ts';
import type { SlideView } from '../slide-view.ts';
import type { SlideField } from '../view-address.ts';
import type { ViewedSlide } from '../viewed-slide.ts';
import { type AnswerDraft, emptyDraft, QuestionForm } from './QuestionForm.tsx';
import { SlideMarks } from './SlideMarks.tsx';
import { coloursOf, itemOfStep, slideFieldOf, stepOfItem, type TourStep } from './steps.ts';
import classes from './Tour.module.css';
import { TourOverlay } from './TourOverlay.tsx';
import { texts } from './texts.ts';
import { usePresentation } from './use-presentation.ts';

const LinkedAnnotations = lazy(async () => ({
  default: (await import('./LinkedAnnotations.tsx')).LinkedAnnotations,
}));
const SlideViewer = preloadable(async () => (await import('../SlideViewer.tsx')).SlideViewer);
/** Loads the code that a tour needs beside its own. */
export const preloadTour = SlideViewer.preload;

/** How pixels are loaded, with the image session of an account or of a share link. */
export interface TourPixels {
  readonly fetchPixels: FetchPixels;
  readonly descriptors: DescriptorSupply;
  readonly session: string | null;
}

interface TourProps {
  /** Title of the collection or link. */
  readonly title: string;
  readonly steps: readonly TourStep[];
  readonly place: number;
  readonly onPlace: (place: number) => void;
  /** The slide of the present step; null while it is loading and without access. */
  readonly slide: ViewedSlide | null;
  /** Address of its thumbnail; null without one. */
  readonly picture: string | null;
  readonly pixels: TourPixels;
  /** Whether the person may move away from the field of a step. */
  readonly isMovable: boolean;
  /** For questions and presentations; null without a collection. */
  readonly collectionId: string | null;
  /** Whether pixels and calls are those of a visitor. */
  readonly isVisitor: boolean;
  /** Whether a visitor sees the annotations of the slides. */
  readonly showsAnnotations: boolean;
  readonly canPresent: boolean;
  /** At the right end of the bar. */
  readonly actions: ReactNode;
}

/** One long function, because the step, its field and the presentation share their state. */
export function Tour(props: TourProps) {
  const { title, steps, place, onPlace, slide, pixels, isMovable, collectionId } = props;
  const step = steps[place];
  const [view, setView] = useState<SlideView | null>(null);
  const [drafts, setDrafts] = useState<ReadonlyMap<number, AnswerDraft>>(new Map());
  const [isMarking, setMarking] = useState(false);
  const [isTextShown, setTextShown] = useState(true);
  const [areAnnotationsShown, setAnnotationsShown] = useState(true);
  /** The field that a presenter showed last for a step. */
  const presented = useRef<{ readonly place: number; readonly field: SlideField | null } | null>(null);

  const session = props.isVisitor ? pixels.session : null;
  const presentation = usePresentation({
    collectionId,
    session,
    view,
    item: itemOfStep(steps, place),
    onShown: ({ field, item }: PresentationEvent) => {
      const shown = item === null ? place : stepOfItem(steps, item);
      if (shown === -1) return;
      presented.current = { place: shown, field: field === null ? null : slideFieldOf(field) };
      if (shown === place) showField();
      else onPlace(shown);
    },
  });

  const fieldNow = (): SlideField | null => {
    const field = step?.field ?? null;
    if (presented.current?.place === place) return presented.current.field;
    return field === null ? null : slideFieldOf(field);
  };
  const showField = () => {
    const field = fieldNow();
    if (field === null) view?.goHome();
    else view?.moveTo(field);
  };
  // A step of another slide opens with its field; one of the same slide moves there.
  const moveToStep = useEffectEvent(() => {
    setMarking(false);
    showField();
  });
  const shownPlace = useRef(place);
  useEffect(() => {
    if (shownPlace.current === place) return;
    shownPlace.current = place;
    moveToStep();
  }, [place]);

  const leave = () => {
    if (presentation.isLive && presentation.isFollowing) presentation.setFollowing(false);
  };
  const goTo = (next: number) => {
    leave();
    presented.current = null;
    onPlace(next);
  };

  const question = step?.question ?? null;
  const draft = drafts.get(place) ?? emptyDraft;
  const setDraft = (next: AnswerDraft) => setDrafts((before) => new Map(before).set(place, next));
  const hasPanel = (step?.text ?? null) !== null || question !== null;

  return (
    <div className={classes.screen}>
      <header className={classes.bar}>
        <h1 className={classes.title}>
          {steps.length > 1 && step !== undefined ? `${title} · ${step.title}` : (step?.title ?? title)}
        </h1>
        {steps.length > 1 && <StepButtons place={place} count={steps.length} onPlace={goTo} />}
        {hasPanel && (
          <Button size="xs" variant="default" onClick={() => setTextShown(!isTextShown)}>
            {isTextShown ? texts.hideText : texts.showText}
          </Button>
        )}
        {props.showsAnnotations && (
          <Button
            size="xs"
            variant={areAnnotationsShown ? 'filled' : 'default'}
            aria-pressed={areAnnotationsShown}
            onClick={() => setAnnotationsShown(!areAnnotationsShown)}
          >
            {texts.annotations}
          </Button>
        )}
        {props.canPresent && (
          <Button
            size="xs"
            variant={presentation.isPresenting ? 'filled' : 'default'}
            aria-pressed={presentation.isPresenting}
            title={texts.presentHint}
            onClick={() => presentation.setPresenting(!presentation.isPresenting)}
          >
            {presentation.isPresenting ? texts.stopPresenting : texts.present}
          </Button>
        )}
        {props.actions}
      </header>
      <LiveBar presentation={presentation} />
      <div className={classes.body}>
        <div
          className={classes.stage}
          onPointerDownCapture={leave}
          onWheelCapture={leave}
          onKeyDownCapture={leave}
        >
          {step !== undefined && step.imageId === null && <NoAccess isVisitor={props.isVisitor} />}
          {/* Without free movement the viewer takes neither pointer nor keys. */}
          <div className={classes.viewer} inert={!isMovable} hidden={step?.imageId === null}>
            <Suspense fallback={<Loading label={texts.loading} />}>
              <TourSlide {...props} slide={slide} step={step} fieldAtFirst={fieldNow} onView={setView} />
            </Suspense>
          </div>
          {view !== null && props.showsAnnotations && areAnnotationsShown && (
            <TourAnnotations view={view} imageId={step?.imageId ?? null} session={session} />
          )}
          {view !== null && question?.kind === 'region' && (
            <SlideMarks
              view={view}
              points={draft.point === null ? [] : [draft.point]}
              onMark={
                isMarking
                  ? (point) => {
                      setDraft({ ...draft, point, result: null });
                      setMarking(false);
                    }
                  : null
              }
              label={texts.markHint}
            />
          )}
        </div>
        {hasPanel && isTextShown && step !== undefined && (
          <section className={classes.panel} aria-label={texts.about} tabIndex={-1}>
            {step.text !== null && <p className={classes.text}>{step.text}</p>}
            {question !== null && collectionId !== null && step.item !== null && (
              <QuestionForm
                key={place}
                question={question}
                draft={draft}
                onDraft={setDraft}
                isMarking={isMarking}
                onMark={setMarking}
                onSend={(given) => sendAnswer(collectionId, { item: step.item ?? 0, answer: given }, session)}
              />
            )}
          </section>
        )}
      </div>
    </div>
  );
}

interface StepButtonsProps {
  readonly place: number;
  readonly count: number;
  readonly onPlace: (place: number) => void;
}

function StepButtons({ place, count, onPlace }: StepButtonsProps) {
  return (
    <nav aria-label={texts.slides}>
      <Button.Group>
        <Button size="xs" variant="default" disabled={place === 0} onClick={() => onPlace(place - 1)}>
          {texts.previous}
        </Button>
        <Button.GroupSection size="xs" variant="default" aria-live="polite">
          {texts.slide(place + 1, count)}
        </Button.GroupSection>
        <Button size="xs" variant="default" disabled={place >= count - 1} onClick={() => onPlace(place + 1)}>
          {texts.next}
        </Button>
      </Button.Group>
    </nav>
  );
}

/** Says that the owner presents, and offers to follow or to leave. */
function LiveBar({ presentation }: { readonly presentation: ReturnType<typeof usePresentation> }) {
  const { isLive, isFollowing, setFollowing, isPresenting } = presentation;
  if (isPresenting) {
    return (
      <p className={classes.live} role="status" style={{ margin: 0 }}>
        {texts.presentingNow} {texts.presentHint}
      </p>
    );
  }
  if (!isLive) return null;
  return (
    <div className={classes.live}>
      <span role="status">{isFollowing ? texts.followingNow : texts.presenterLive}</span>
      <Button size="compact-xs" variant="default" onClick={() => setFollowing(!isFollowing)}>
        {isFollowing ? texts.leave : texts.follow}
      </Button>
    </div>
  );
}

function NoAccess({ isVisitor }: { readonly isVisitor: boolean }) {
  return (
    <div className={classes.closed}>
      <Text fw={600}>{texts.noAccess}</Text>
      {!isVisitor && (
        <>
          <Text c="dimmed">{texts.noAccessHint}</Text>
          <Button component={Link} to="/wsi-viewer" variant="default">
            {texts.goToViewer}
          </Button>
        </>
      )}
    </div>
  );
}

interface TourAnnotationsProps {
  readonly view: SlideView;
  readonly imageId: string | null;
  readonly session: string | null;
}

function TourAnnotations({ view, imageId, session }: TourAnnotationsProps) {
  if (imageId === null || session === null) return null;
  return (
    <Suspense fallback={null}>
      <LinkedAnnotations key={imageId} view={view} imageId={imageId} session={session} />
    </Suspense>
  );
}

interface TourSlideProps extends TourProps {
  readonly step: TourStep | undefined;
  readonly fieldAtFirst: () => SlideField | null;
  readonly onView: (view: SlideView | null) => void;
}

/** The slide of a step with the colours of its saved view. */
function TourSlide({ slide, picture, pixels, isMovable, step, fieldAtFirst, onView }: TourSlideProps) {
  const { profile, adjustment } = coloursOf(step?.colours);
  const [chosen, setChosen] = useState({ of: step, profile, adjustment });
  if (chosen.of !== step) setChosen({ of: step, profile, adjustment });
  return (
    <SlideViewer
      slide={slide}
      picture={picture}
      {...pixels}
      fieldAtFirst={fieldAtFirst}
      onField={ignore}
      onView={onView}
      onIncomplete={ignore}
      isCorrected={chosen.profile === 'corrected'}
      onCorrect={(isCorrected) => setChosen({ ...chosen, profile: isCorrected ? 'corrected' : 'scanned' })}
      keptColours={chosen.adjustment}
      onKeepColours={(kept) => setChosen({ ...chosen, adjustment: kept ?? coloursOf(null).adjustment })}
      hasKeys={isMovable}
      Overlay={TourOverlay}
    />
  );
}

const ignore = () => undefined;
