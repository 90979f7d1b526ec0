/**
 * Plays a tour: shows the slides of a collection or share link one after the other, with their texts and questions.
 * Users move through the steps themselves or follow a presenter.
 *
 * The file is long because the step, its field of view and the presentation share their state.
 */
import type { PresentationEvent } from '@lamina/contract';
import { Button, Text } from '@mantine/core';
import { type ReactNode, Suspense, useEffect, useEffectEvent, useRef, useState } from 'react';
import { Link } from 'react-router';
import { sendAnswer } from '../../api/collections.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { lazyPart } from '../../components/lazy-part.tsx';
import { preloadable } from '../../components/preloadable.tsx';
import { useStateAcrossLanguages } from '../../language/use-state-across-languages.ts';
import { asScanned } from '../colours/adjustment.ts';
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

/** Loaded on demand: only tours of share links can show annotations. The second component replaces it if its code cannot be loaded. */
const ShareLinkAnnotations = lazyPart(
  async () => (await import('./ShareLinkAnnotations.tsx')).ShareLinkAnnotations,
  ({ onRetry }) => (
    <div className={classes.failed}>
      <LoadFailed message={texts.annotationsNotLoaded} onRetry={onRetry} />
    </div>
  ),
);
const SlideViewer = preloadable(async () => (await import('../SlideViewer.tsx')).SlideViewer);
/** Loads the code of the slide viewer in advance. */
export const preloadTour = SlideViewer.preload;

/** The functions and the credential with which an account or a visitor of a share link loads pixels. */
export interface TourPixels {
  readonly fetchPixels: FetchPixels;
  readonly descriptors: DescriptorSupply;
  /** Image session (the short-lived credential for loading pixels); null while it is being requested. */
  readonly session: string | null;
}

interface TourProps {
  /** Title of the collection or link. */
  readonly title: string;
  readonly steps: readonly TourStep[];
  /** Index of the current step. */
  readonly stepIndex: number;
  readonly onStepChange: (stepIndex: number) => void;
  /** The slide of the current step; null while it is loading, and when the user has no access. */
  readonly slide: ViewedSlide | null;
  /** URL of the thumbnail of `slide`; null when there is none. */
  readonly thumbnailUrl: string | null;
  readonly pixels: TourPixels;
  /** Whether the user may move and zoom the slide. */
  readonly isMovable: boolean;
  /** The collection of the tour, for questions and presentations; null for a link to a single slide, view or case. */
  readonly collectionId: string | null;
  /** Whether the tour was opened with a share link. The user then has only the rights of a visitor, even when signed in. */
  readonly isVisitor: boolean;
  /** Whether the tour offers to show the annotations of the slides, as a share link may allow. */
  readonly showsAnnotations: boolean;
  /** Whether the user may present the collection to others. */
  readonly canPresent: boolean;
  /** Buttons at the right end of the bar. */
  readonly actions: ReactNode;
}

/** The screen of a tour. */
export function Tour(props: TourProps) {
  const { title, steps, stepIndex, onStepChange, slide, pixels, isMovable, collectionId } = props;
  const step = steps[stepIndex];
  const [view, setView] = useState<SlideView | null>(null); // null until the slide is open
  /** The user's answers, by the index of their step. They survive a change of the language, which remounts the screen. */
  const [drafts, setDrafts] = useStateAcrossLanguages<ReadonlyMap<number, AnswerDraft>>(
    `answers in the tour of ${collectionId}`,
    new Map(),
  );
  const [isMarking, setMarking] = useState(false); // whether the next click marks the place that a question asks for
  const [isTextShown, setTextShown] = useState(true); // the panel with the text and the question of the step
  const [areAnnotationsShown, setAnnotationsShown] = useState(true);
  /** The step and field of view that a presenter showed last; null when the user has chosen the step. */
  const presentedField = useRef<{ readonly stepIndex: number; readonly field: SlideField | null } | null>(
    null,
  );

  /** With this session, a visitor also answers questions and follows presentations. Null for an account. */
  const session = props.isVisitor ? pixels.session : null;
  const presentation = usePresentation({
    collectionId,
    session,
    view,
    item: itemOfStep(steps, stepIndex), // position of the step's item in the collection, or the image id of its slide
    onShown: ({ field, item }: PresentationEvent) => {
      const presentedIndex = item === null ? stepIndex : stepOfItem(steps, item);
      if (presentedIndex === -1) return; // this tour does not contain the step that the presenter shows
      presentedField.current = {
        stepIndex: presentedIndex,
        field: field === null ? null : slideFieldOf(field),
      };
      if (presentedIndex === stepIndex) showField();
      else onStepChange(presentedIndex);
    },
  });

  /** Returns the presenter's field of view; without a presenter, the field of the step. Null shows the whole slide. */
  const fieldToShow = (): SlideField | null => {
    if (presentedField.current?.stepIndex === stepIndex) return presentedField.current.field;
    const field = step?.field ?? null;
    return field === null ? null : slideFieldOf(field);
  };
  const showField = () => {
    const field = fieldToShow();
    if (field === null) view?.goHome();
    else view?.moveTo(field);
  };
  // When the next step has the same slide, the view only moves. Another slide opens with its own field (`initialField`).
  const moveToStep = useEffectEvent(() => {
    setMarking(false);
    showField();
  });
  const lastStepIndex = useRef(stepIndex);
  useEffect(() => {
    if (lastStepIndex.current === stepIndex) return;
    lastStepIndex.current = stepIndex;
    moveToStep();
  }, [stepIndex]);

  /** Stops following a presenter, because the user uses the slide or the buttons. */
  const stopFollowing = () => {
    if (presentation.isLive && presentation.isFollowing) presentation.setFollowing(false);
  };
  const goToStep = (nextIndex: number) => {
    stopFollowing();
    presentedField.current = null;
    onStepChange(nextIndex);
  };

  const question = step?.question ?? null;
  const draft = drafts.get(stepIndex) ?? emptyDraft;
  const setDraft = (next: AnswerDraft) => setDrafts((before) => new Map(before).set(stepIndex, next));
  const hasPanel = (step?.text ?? null) !== null || question !== null;
  const hasSeveralSteps = steps.length > 1;

  return (
    <div className={classes.screen}>
      <header className={classes.bar}>
        <h1 className={classes.title}>
          {hasSeveralSteps && step !== undefined ? `${title} · ${step.title}` : (step?.title ?? title)}
        </h1>
        {hasSeveralSteps && (
          <StepButtons stepIndex={stepIndex} stepCount={steps.length} onStepChange={goToStep} />
        )}
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
          onPointerDownCapture={stopFollowing}
          onWheelCapture={stopFollowing}
          onKeyDownCapture={stopFollowing}
        >
          {step !== undefined && step.imageId === null && <NoAccess isVisitor={props.isVisitor} />}
          {/* `inert` makes the viewer ignore pointer and keyboard when the user may not move the slide. */}
          <div className={classes.viewer} inert={!isMovable} hidden={step?.imageId === null}>
            <Suspense fallback={<Loading label={texts.loading} />}>
              <TourSlide {...props} slide={slide} step={step} initialField={fieldToShow} onView={setView} />
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
                key={stepIndex}
                question={question}
                draft={draft}
                onDraft={setDraft}
                isMarking={isMarking}
                onMarkingChange={setMarking}
                // `step.item` is never null here, but TypeScript does not know this inside the function.
                onSend={(answer) => sendAnswer(collectionId, { item: step.item ?? 0, answer }, session)}
              />
            )}
          </section>
        )}
      </div>
    </div>
  );
}

interface StepButtonsProps {
  readonly stepIndex: number;
  readonly stepCount: number;
  readonly onStepChange: (stepIndex: number) => void;
}

function StepButtons({ stepIndex, stepCount, onStepChange }: StepButtonsProps) {
  return (
    <nav aria-label={texts.slides}>
      <Button.Group>
        <Button
          size="xs"
          variant="default"
          disabled={stepIndex === 0}
          onClick={() => onStepChange(stepIndex - 1)}
        >
          {texts.previous}
        </Button>
        <Button.GroupSection size="xs" variant="default" aria-live="polite">
          {texts.slide(stepIndex + 1, stepCount)}
        </Button.GroupSection>
        <Button
          size="xs"
          variant="default"
          disabled={stepIndex >= stepCount - 1}
          onClick={() => onStepChange(stepIndex + 1)}
        >
          {texts.next}
        </Button>
      </Button.Group>
    </nav>
  );
}

/** Tells the user that a presentation is running. Users other than the presenter can follow it and stop following. */
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

/** A message instead of a slide that the user may not view. */
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
  readonly imageId: string | null; // null when the visitor may not view the slide
  readonly session: string | null; // of the link; null for an account
}

/** The annotations of a slide for a visitor of a share link. Renders nothing without a `session`, for example for an account. */
function TourAnnotations({ view, imageId, session }: TourAnnotationsProps) {
  if (imageId === null || session === null) return null;
  return <ShareLinkAnnotations key={imageId} view={view} imageId={imageId} session={session} />;
}

interface TourSlideProps extends TourProps {
  readonly step: TourStep | undefined; // undefined for a tour without steps
  readonly initialField: () => SlideField | null; // null for the whole slide
  readonly onView: (view: SlideView | null) => void;
}

/** The slide of a step. It opens with the colours of the saved view; the user's changes to them last until the next step. */
function TourSlide({ slide, thumbnailUrl, pixels, isMovable, step, initialField, onView }: TourSlideProps) {
  const { profile, adjustment } = coloursOf(step?.colours);
  const [colours, setColours] = useState({ step, profile, adjustment });
  // Set during rendering: React renders again immediately, so the new step never appears with the previous colours.
  if (colours.step !== step) setColours({ step, profile, adjustment });
  return (
    <SlideViewer
      slide={slide}
      thumbnailUrl={thumbnailUrl}
      {...pixels}
      initialField={initialField}
      onField={doNothing}
      onView={onView}
      onIncomplete={doNothing}
      isCorrected={colours.profile === 'corrected'}
      onCorrect={(isCorrected) => setColours({ ...colours, profile: isCorrected ? 'corrected' : 'scanned' })}
      keptColours={colours.adjustment}
      onKeepColours={(kept) => setColours({ ...colours, adjustment: kept ?? asScanned })}
      handlesKeys={isMovable}
      Overlay={TourOverlay}
    />
  );
}

const doNothing = () => undefined;
